// Package bridge tests that several clients that each start "collie stdio" share the servers of
// one "collie serve", and what happens to the clients when that gateway ends. It runs the real
// program with fakemcp servers, and counts the server processes.
package bridge
