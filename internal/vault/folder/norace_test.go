//go:build !race

package folder_test

const raceEnabled = false
