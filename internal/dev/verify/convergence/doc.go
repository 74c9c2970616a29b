// Package convergence verifies that the informers of client-go become equal to the store after
// interruptions. Their connections are broken and moved between a server and a replica that lags
// behind, while the server forgets its history.
package convergence
