//go:build !stories

package fidelity_test

// seeds is how many odd things go each way between each pair of ends.
const seeds = 12
