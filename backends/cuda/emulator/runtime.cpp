// The scheduler in one unit. It is compiled without sanitizers: it speaks to them through their fiber interfaces.
#include "collectives.cpp"
#include "fibers.cpp"
#include "launch.cpp"
