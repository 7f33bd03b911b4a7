// Package docs tests that the documents are right: every command and flag in them exists, the commands in their code
// blocks can be run, and the tables and the tree of docs/architecture.md are complete.
package docs
