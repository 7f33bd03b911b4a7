//go:build !stories

package toolcache_test

// kills is how often a writer is killed; the stories do it 200 times.
const kills = 20
