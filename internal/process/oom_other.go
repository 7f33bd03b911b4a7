//go:build !linux

package process

func oomKills() int64 { return -1 }
