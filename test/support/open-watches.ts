/** The open gateways of this process, each with its check that it sent what it reports. */
import type { Watch } from './watch-explained.ts'

export const watches = new Set<Watch>()
