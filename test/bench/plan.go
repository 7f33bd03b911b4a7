package main

import "time"

// plan says how much is measured. Each figure is measured once per round; the report has the median of the
// rounds.
type plan struct {
	rounds int
	blocks int // turns of each lane in a round
	calls  int // calls in a turn
	cold   int // first calls of a turn, which do not count

	sessions     []int         // numbers of concurrent clients
	leanSessions []int         // likewise with the lean server
	slices       int           // turns of each side in a round
	slice        time.Duration // duration of a turn

	bigBytes []int
	bigCalls []int // of each size, in a round

	servers []int // numbers of servers of an idle gateway
	tools   int   // tools of each server
	pause   time.Duration
	lists   int // tools/list requests in a round

	warmServers int           // servers known from the cache
	boot        time.Duration // time that each server needs to start
	starts      int           // starts of a gateway that knows them
	firsts      int           // first calls of each kind
	many        int           // unused servers
	longList    int           // tools in the longest list
	stopServers int           // servers running when the gateway is stopped
	kills       int           // times a server is killed, idle and in mid-call
	documents   int           // documents besides the one that is read
	noteCalls   int           // calls in a turn with the kernel of notes

	vaultDocs, vaultBlocks int // documents of the vault, and blocks per document
	vaultAppends           int // appends in a round
	vaultCalls             int // appends through the gateway in a round
	vaultQueries           int // of each kind, in a round
	vaultWrites            int // appends of each of many writers

	talks   int   // long conversations in the file
	talkers int   // turns that stream while memory is measured
	streams []int // numbers of turns that stream at once
	deltas  int   // pieces of an answer
}

var full = plan{
	rounds: 5, blocks: 20, calls: 55, cold: 5,
	sessions: []int{1, 16, 64, 256}, leanSessions: []int{1, 16}, slices: 4, slice: 200 * time.Millisecond,
	bigBytes: []int{1 << 20, 16 << 20}, bigCalls: []int{15, 4},
	servers: []int{1, 50}, tools: 20, pause: 2 * time.Second, lists: 100,
	warmServers: 50, boot: time.Second, starts: 15, firsts: 3, many: 200, longList: 2000, stopServers: 20, kills: 20, documents: 200, noteCalls: 55,
	vaultDocs: 1000, vaultBlocks: 100, vaultAppends: 200, vaultCalls: 50, vaultQueries: 5, vaultWrites: 20,
	talks: 20, talkers: 20, streams: []int{1, 200}, deltas: 200,
}

var short = plan{
	rounds: 3, blocks: 4, calls: 25, cold: 5,
	sessions: []int{1, 16}, leanSessions: []int{1}, slices: 2, slice: 40 * time.Millisecond,
	bigBytes: []int{1 << 20}, bigCalls: []int{3},
	servers: []int{1, 3}, tools: 20, pause: 100 * time.Millisecond, lists: 10,
	warmServers: 8, boot: 300 * time.Millisecond, starts: 3, firsts: 1, many: 12, longList: 400, stopServers: 4, kills: 2, documents: 10, noteCalls: 6,
	vaultDocs: 60, vaultBlocks: 40, vaultAppends: 20, vaultCalls: 5, vaultQueries: 1, vaultWrites: 2,
	talks: 1, talkers: 3, streams: []int{1, 8}, deltas: 25,
}
