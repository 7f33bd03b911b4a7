// Package hidden holds tests alone: what a notebook with level none must not show through any action, at the vault and,
// where COLLIE_TEST_KERNEL names one, at a real kernel whose own jobs copy texts between notebooks.
package hidden
