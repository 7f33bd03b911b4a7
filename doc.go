// Package collie is the root of the module and holds no code: the program is cmd/collie,
// everything else lies under internal. Read docs/architecture.md for the map. The table of
// which folder may import which stands in layers_test.go, beside this file.
package collie
