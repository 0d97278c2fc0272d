// Package conversion turns what people write about pools into what Designate reads.
//
// It is pure: text and structs in, structs and text out. It knows no client, no clock and no log, so the webhooks, the
// controllers and poolctl come to the same verdict by calling it. Three questions are answered here and nowhere else:
// which pools a ConfigMap lists (ParseConfigMap), whether a description of a pool is one that Designate can hold
// (ValidatePool, ValidateBackend), and what pools.yaml says of a set of pools (RenderPoolsYAML).
package conversion
