/** A route for stored data, and the checks of ids and queries that such routes share. */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { createMissingFieldError, readOptional } from '../../dialects/checks/check-json-types.ts'
import { asMetadata } from '../../dialects/checks/check-value-limits.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import type { AuthenticatedRequest } from '../authenticated-request.ts'

export interface StoredObjectRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path without `/v1`, with parameters, for example `/responses/:id`. */
  readonly path: string
  /** Serves a request; resolves to null to leave it to the next route with the same path. */
  readonly handle: (
    request: AuthenticatedRequest,
    world: GatewayDependencies,
  ) => Promise<JsonObject | null>
}

/** Reads the field `metadata` of a body in which it is required. */
export async function readMetadata({ readJsonObject }: AuthenticatedRequest): Promise<JsonObject> {
  const { metadata } = await readJsonObject()
  if (metadata === undefined) throw createMissingFieldError('metadata')
  return readOptional(asMetadata, metadata, 'metadata') ?? {}
}

/**
 * Returns the id, or rejects an id of another kind with status 400, e.g. `conv_1` for the prefix
 * `resp`.
 */
export function requireIdPrefix(id: string, prefix: string, param: string): string {
  if (id.startsWith(`${prefix}_`)) return id
  throw new GatewayError(
    'invalid_value',
    `Invalid '${param}': '${shortenForError(id)}'. Expected an ID that begins with '${prefix}'.`,
    { param },
  )
}

/** Cuts an id after 80 characters, so that an error message stays readable. */
export function shortenForError(id: string): string {
  return id.length > 80 ? `${id.slice(0, 80)}…` : id
}

/** Reads the list `include` in each form that clients use: `include=a`, `include[]=a`, `include[0]=a`. */
export function readInclude(query: URLSearchParams): readonly string[] {
  return [...query].flatMap(([name, value]) => (/^include(\[\d*\])?$/.test(name) ? [value] : []))
}
