/**
 * Recognizes OpenRouter's error for an input that a provider's moderation rejects. It has the status 403, which
 * otherwise means that the upstream rejects the gateway's key.
 */
import { isObject, type JsonObject } from '../../core/json/json.ts'

export const MODERATION_CODE = 'content_filter'

export function isModerationError({ metadata }: JsonObject): boolean {
  return isObject(metadata) && Array.isArray(metadata['reasons'])
}
