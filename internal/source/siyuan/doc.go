// Package siyuan is the Source of the tools for SiYuan, a program for notes: eleven tools for a person's notes, and a
// twelfth that is off by default. It joins the packages below it:
//
//	kernel       the HTTP API of a SiYuan kernel
//	access       levels of notebooks, switches of tools
//	connection   which kernel, with which token
//	action       what an action is: one value says everything about it
//	content      what blocks hold: windows, exact edits, overwrites
//	safety       writes that run once, against the state that was seen, and can be undone
//	fs … mascot  one folder a tool, one file an action
//
// A call goes through the current switches, the current levels, the resolving and checking of every target, for a
// write the rules of safe writing, then the action, and the slim form of its result. The pipeline does what comes
// before, such as validation and the question to a person. The entry point is [New].
//
// Every request of every client pays for the tools' descriptions, so they are short: about 50 tokens and at most 85
// each, for what the tool is for and what its ids are. The rest (each argument, each rule, examples) is one call of
// help away; it is needed for one action at a time, and would cost 1,500 tokens a request for all eleven tools.
// TestSize checks the budget of the whole list.
package siyuan
