package wasmhost

import "slices"

// metric is one statistic of the process: all VMs that define its name count into it.
type metric struct {
	kind    uint32
	value   uint64
	samples []uint64
}

// The types of metrics; an id's lowest two bits are its type.
const (
	counter uint32 = iota
	gauge
	histogram
)

func (i *instance) defineMetric(kind uint32, name string) (id uint32, st status) {
	if kind > histogram {
		return 0, badArgument
	}
	h := i.vm.host
	key := [...]string{"counter ", "gauge ", "histogram "}[kind] + name
	if h.metrics[key] == nil {
		h.metrics[key] = &metric{kind: kind}
	}
	i.nextIDs[kind] += 4
	id = i.nextIDs[kind]
	i.metrics[id] = h.metrics[key]
	return id, ok
}

func (i *instance) incrementMetric(id uint32, by int64) status {
	m := i.metrics[id]
	switch {
	case id&3 > gauge:
		return badArgument
	case m == nil:
		return notFound
	case m.kind == counter && by <= 0:
		return badArgument
	}
	m.value += uint64(by)
	return ok
}

func (i *instance) recordMetric(id uint32, value uint64) status {
	m := i.metrics[id]
	switch {
	case m == nil:
		return notFound
	case m.kind == counter:
		m.value += value
	case m.kind == gauge:
		m.value = value
	default:
		m.samples = append(m.samples, value)
	}
	return ok
}

// Counter gives a counter's value; 0 where the filter has not defined it.
func (h *Host) Counter(name string) uint64 { return h.metricValue("counter " + name) }

// Gauge gives a gauge's value; 0 where the filter has not defined it.
func (h *Host) Gauge(name string) uint64 { return h.metricValue("gauge " + name) }

func (h *Host) metricValue(key string) uint64 {
	if m := h.metrics[key]; m != nil {
		return m.value
	}
	return 0
}

// Histogram gives what was recorded into a histogram, in its order.
func (h *Host) Histogram(name string) []uint64 {
	if m := h.metrics["histogram "+name]; m != nil {
		return slices.Clone(m.samples)
	}
	return nil
}
