// Package pipeline tests the first promise: every call goes through the pipeline. The entry points are taken
// from the command tree, the routes of the API and the methods of the MCP face. Each is classed as call, read
// or manage. The test makes real calls through each entry point of class call, and checks that every call
// leaves exactly one pair of records.
package pipeline
