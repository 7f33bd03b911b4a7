// Package docs tests that what the documents tell people to type can be typed: every command
// is one, every action of a SiYuan tool is there with the flags that are shown, and the commands in blocks are run.
package docs
