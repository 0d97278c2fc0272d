// Package options holds what an administrator can set about the controllers: how many objects each works on at once, how
// it retries, and how much of the cluster it keeps in memory.
package options
