// The scheduler in one unit. It is compiled without sanitizers, and calls their interfaces for fibers.
#include "collectives.cpp"
#include "fibers.cpp"
#include "launch.cpp"
