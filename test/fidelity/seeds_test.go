//go:build !stories

package fidelity_test

// seeds is how many generated messages are sent in each direction between a client and a server.
const seeds = 12
