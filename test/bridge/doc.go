// Package bridge asks whether several clients that each start "collie stdio" share the
// servers of one "collie serve", and what becomes of them when it goes away. The program and
// its servers are real, and the servers are counted.
package bridge
