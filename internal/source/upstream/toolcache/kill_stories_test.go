//go:build stories

package toolcache_test

// kills is how often a writer is killed. Only builds with the tag stories take the time for so many.
const kills = 200
