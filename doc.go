// Package collie is the root of the module and holds no code. The program is cmd/collie; everything else is
// under internal. docs/architecture.md is the map. layers_test.go, in this folder, says which folder may
// import which.
package collie
