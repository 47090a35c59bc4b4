/** Every layer there is. */
import { coreFacts, facts } from './facts/core-and-relevant-facts.ts'
import type { Layer } from './memory-layer-interface.ts'
import { observations } from './versioned-layers/observation-layer.ts'
import { workingMemory } from './versioned-layers/working-memory-layer.ts'

export const LAYERS: readonly Layer[] = [workingMemory, observations, coreFacts, facts]
