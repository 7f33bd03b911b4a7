// Package process starts child processes and makes sure they end: every program this gateway starts is gone
// when the gateway is gone, however the gateway ended.
//
// [Start] runs a [Command] in a process group of its own, with pipes for stdin and stdout, and a goroutine
// that always drains stderr. [Process.Stop] takes these steps: close stdin, wait, SIGTERM to the group, wait,
// SIGKILL to the group. If the gateway dies without doing that, three things remain:
//
//   - [Reaper], a second process of the same binary, holds the read end of a pipe. When the
//     gateway dies, the pipe closes and the reaper ends every group on its list. On Windows a
//     Job Object does the same.
//   - [Ledger] keeps the children in a file, so that the next gateway can end what even
//     the reaper left behind.
//   - [WatchParent] tells a gateway that the program it works for has gone.
//
// The package knows nothing of what is said over the pipes. No other package imports os/exec, except helpers of tests. On Unix
// it cannot reach a process that leaves its group (setsid).
package process
