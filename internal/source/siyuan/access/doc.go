// Package access says what may be done where: the level of each notebook, and which tools
// and actions are switched on. Both live in files of the SiYuan workspace, so that they hold
// for every program that reads them; this package reads, merges, migrates and writes them.
//
// What a level is checked for is the action's to say; that every call is checked is the
// source's. The entry points are [NewLevels] and [NewSwitches].
package access
