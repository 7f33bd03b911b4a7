package api

const (
	// Version is the version of the kernel whose answers were recorded, and what the vault reports as its own.
	Version = "3.7.3"
	// Root is the folder in which the workspace lies, as answers and errors show it. There is none: a path below it
	// names a file of the workspace.
	Root = "/workspace"
)
