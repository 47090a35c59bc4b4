/**
 * A resource is a method, a path and a function: what is asked, understood as far as HTTP goes, and
 * the JSON that answers it. Whatever is wrong is a GatewayError.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'

export interface StoredObjectRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** As in `/responses/:id`. */
  readonly path: string
  /** Resolves to `null` for what another route is to answer. */
  readonly answer: (
    asked: StoredObjectRequest,
    world: GatewayDependencies,
  ) => Promise<JsonObject | null>
}

export interface StoredObjectRequest {
  readonly caller: Caller
  /** What stands in the path in the place of `:name`. */
  readonly named: (name: string) => string
  readonly query: URLSearchParams
  readonly body: () => Promise<JsonObject>
  /** Where nothing needs to be said: `{}` for no body. */
  readonly maybeBody: () => Promise<JsonObject>
  /** The body where it may be any JSON. */
  readonly value: () => Promise<unknown>
}

/** An id of another kind is a mistake; one that names nothing is only not there. */
export function requireIdPrefix(id: string, prefix: string, param: string): string {
  if (id.startsWith(`${prefix}_`)) return id
  throw new GatewayError(
    'invalid_value',
    `Invalid '${param}': '${shortenForError(id)}'. Expected an ID that begins with '${prefix}'.`,
    { param },
  )
}

/** Short enough for an error message. */
export function shortenForError(id: string): string {
  return id.length > 80 ? `${id.slice(0, 80)}…` : id
}

/** Lists in a query come as `include=a&include=b`, `include[]=a` or `include[0]=a`. */
export function readInclude(query: URLSearchParams): readonly string[] {
  return [...query].flatMap(([name, value]) => (/^include(\[\d*\])?$/.test(name) ? [value] : []))
}
