/** The gateways that are open in this process, each with a look at whether it says what it does. */
import type { Watch } from './watch-explained.ts'

export const watches = new Set<Watch>()
