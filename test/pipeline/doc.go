// Package pipeline shows the first promise: every call goes through the pipeline. The entry points are
// generated from the command tree, the routes of the HTTP face and the methods of the MCP
// face; each is classed as call, read or manage, each of class call is driven for real, and
// each call leaves exactly one pair of records.
package pipeline
