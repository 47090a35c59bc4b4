/** Defines the results of loading a request's media, by URL. */
import type { InlineMedia } from '../find-and-embed-remote-media.ts'

export type LoadedMedia = ReadonlyMap<string, InlineMedia | LoadFault>

/** The reason why a URL was not loaded. */
export interface LoadFault {
  readonly fault: LoadFaultCode
}

export const LOAD_FAULT_REASONS = {
  'media-blocked': 'its address is not one that may be asked',
  'media-unreachable': 'its address does not answer',
  'media-gone': 'there is nothing at its address',
  'media-late': 'its address did not answer in time',
  'media-oversized': 'it is too large',
  'media-mislabelled': 'what is at its address is something else',
  'media-too-many': 'there are too many',
  'media-memory': 'the gateway is busy with others',
} as const

export type LoadFaultCode = keyof typeof LOAD_FAULT_REASONS
