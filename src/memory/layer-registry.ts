/** Lists all memory layers (blocks of text beside the conversation). */
import { coreFactsLayer, matchingFactsLayer } from './facts/core-and-matching-fact-layers.ts'
import type { MemoryLayer } from './memory-layer-interface.ts'
import { observationLayer } from './versioned-layers/observation-layer.ts'
import { workingMemoryLayer } from './versioned-layers/working-memory-layer.ts'

export const MEMORY_LAYERS: readonly MemoryLayer[] = [
  workingMemoryLayer,
  observationLayer,
  coreFactsLayer,
  matchingFactsLayer,
]
