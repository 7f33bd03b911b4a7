//go:build stories

package toolcache_test

const kills = 200
