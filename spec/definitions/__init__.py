"""One executable definition per operator, each in the file of its name."""
