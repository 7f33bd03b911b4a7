// Package pipeline tests that every call goes through the pipeline. The entry points are taken from the command tree,
// the routes of the API and the methods of the MCP face. Each is classed as call, read, manage or chat. The test
// makes real calls through each entry point of class call, and checks that every call leaves exactly one pair of
// records in the audit.
package pipeline
