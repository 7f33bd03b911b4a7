//go:build !stories

package toolcache_test

// kills is how often a writer is killed. Builds with the tag stories kill it more often.
const kills = 20
