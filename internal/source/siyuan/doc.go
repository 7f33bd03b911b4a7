// Package siyuan is the Source of the tools for SiYuan, a program for notes: eleven tools for a person's notes, and a
// twelfth that is off by default. It joins the packages below it:
//
//	kernel       the HTTP API of a SiYuan kernel
//	access       levels of notebooks, switches of tools
//	connection   which kernel, with which token
//	action       what an action is: one value says everything about it
//	content      what blocks hold: windows, exact edits, overwrites
//	safety       writes that run once, against the state that was seen, and can be undone
//	datafile     files of a workspace that are not documents
//	guide        instructions, help pages and prompts
//	fs, block …  a folder for each tool, with its actions
//
// A call goes through the current switches, the current levels, the resolving and checking of every target, for a
// write the rules of safe writing, then the action, and the slim form of its result. The pipeline does what comes
// before, such as validation and the question to a person. The entry point is [New].
//
// Every request of every client pays for the tools' descriptions, so they are short: one or two sentences for what the
// tool is for and what its ids are. The rest (each argument, each rule, examples) is one call of help away, because it is
// needed for one action at a time. TestSize checks the size of the whole list.
package siyuan
