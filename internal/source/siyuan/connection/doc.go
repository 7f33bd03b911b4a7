// Package connection says which SiYuan kernel is talked to: it reads the connections that are
// saved in the section "siyuan" of collie.json, or in the files of older programs, and chooses
// between them, the environment and the command line.
//
// It opens no file, starts no program and talks to nobody; what it needs of that kind its caller
// hands in as functions. The entry points are [Parse], [Old] and [Resolve].
package connection
