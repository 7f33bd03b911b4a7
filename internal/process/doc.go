// Package process starts child processes and, above all, ends them: every program this
// gateway starts is gone when the gateway is, however the gateway ended.
//
// [Start] runs a [Command] in a process group of its own, with pipes for stdin and stdout
// and a goroutine that always drains stderr. [Process.Stop] climbs the ladder: close
// stdin, wait, SIGTERM to the group, wait, SIGKILL to the group. Three things look after
// a gateway that cannot do that any more:
//
//   - [Reaper], a second process of the same binary, holds the read end of a pipe. When the
//     gateway dies, the pipe closes and the reaper ends every group it was told of. On
//     Windows a Job Object does the same.
//   - [Ledger] keeps the children in a file, so that the next gateway can end what even
//     the reaper left behind.
//   - [WatchParent] tells a gateway that the program it works for has gone.
//
// This package knows processes and nothing of what is said over their pipes. It is the
// only one that imports os/exec. A process that leaves its group (setsid) is out of its
// reach on Unix.
package process
