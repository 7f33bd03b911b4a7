// Package connection chooses the SiYuan kernel: it reads the connections saved in the section "siyuan" of
// collie.json, or in the files of older programs, and chooses between them, the environment and the command line.
//
// It opens no files, starts no programs and sends no requests; the caller supplies functions for that. The entry
// points are [Parse], [ReadOlderPrograms] and [Resolve].
package connection
