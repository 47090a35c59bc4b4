import type { Account, WireName } from '../../src/providers/provider-interface.ts'

/** Builds an account of a wire without any quirks. */
export function plainAccount(wire: WireName): Account {
  return {
    name: 'a',
    wire,
    baseUrl: 'http://x',
    apiKey: null,
    models: ['*'],
    headers: {},
    quirks: {},
  }
}
