/** Every layer there is. */
import { coreFacts, facts } from './facts.ts'
import type { Layer } from './layer.ts'
import { observations } from './observations.ts'
import { workingMemory } from './working-memory.ts'

export const LAYERS: readonly Layer[] = [workingMemory, observations, coreFacts, facts]
