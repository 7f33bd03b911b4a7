package registry

// Read lets the tests of this package parse an answer without a server.
var Read = read
