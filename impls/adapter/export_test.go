package adapter

// Monotonic is monotonic, for adapters in tests.
var Monotonic = monotonic
