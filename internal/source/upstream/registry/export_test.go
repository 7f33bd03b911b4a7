package registry

// Read is read, for the tests of what answers may hold.
var Read = read
