package perturb

import "sync"

// inParallel calls f with the numbers below count, with several calls at a time.
func inParallel(workers, count int, f func(i int)) {
	next := make(chan int)
	var running sync.WaitGroup
	for range min(workers, count) {
		running.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range count {
		next <- i
	}
	close(next)
	running.Wait()
}
