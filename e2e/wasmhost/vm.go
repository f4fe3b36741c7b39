package wasmhost

// VM is what a worker has of the filter: the newest instance of it.
type VM struct {
	host     *Host
	index    int
	instance *instance
	loads    int
	streams  []*Stream // that live
}

// Index is the worker's number, counted from 0; -1: the main thread.
func (vm *VM) Index() int { return vm.index }

// Failed reports whether the VM has trapped and has not been loaded anew.
func (vm *VM) Failed() bool { return vm.instance.failed }

// Reloads is how often the VM was loaded anew after a trap.
func (vm *VM) Reloads() int { return vm.loads }

// Streams gives the streams that have not ended, oldest first.
func (vm *VM) Streams() []*Stream { return append([]*Stream(nil), vm.streams...) }

// Shutdown ends the plugin as an update of its configuration does: its root context is asked once its last stream has
// ended, and its calls are cancelled, without a callback, once it agrees.
func (vm *VM) Shutdown() {
	vm.instance.draining = true
	vm.instance.maybeEndRoot()
	vm.host.settle()
}

func (i *instance) maybeEndRoot() {
	if i.draining && i.streams == 0 && !i.failed && !i.notDone {
		i.endRoot()
	}
}

// ready gives an instance for a new stream, loading one where the last has trapped and the policy allows it. nil: there
// is none, the stream fails.
func (vm *VM) ready() *instance {
	h := vm.host
	if !vm.instance.failed {
		return vm.instance
	}
	if h.o.FailClosed || h.now.Sub(vm.instance.loaded) < h.o.ReloadAfter {
		return nil
	}
	if err := vm.load(); err != nil {
		return nil
	}
	vm.loads++
	return vm.instance
}
