// Package access says what may be done where: the level of each notebook, and which tools
// and actions are switched on. Both live in files of the SiYuan workspace, so that they hold
// for every program that reads them; this package reads, merges, migrates and writes them.
//
// Neither file is made by a start: defaults that were written down would be synced to every
// machine, and would hold where a later version offers less. Where the files cannot be read
// nothing is written, and no flag puts levels in their place: it would open hidden notebooks just
// when nobody can tell which they are.
//
// What a level is checked for is the action's to say; that every call is checked is the
// source's. The entry points are [NewLevels] and [NewSwitches].
package access
