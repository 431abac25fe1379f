import type { Declared } from '@spotalis/units';
import type { ResourceDefinition } from '../resource/definition.ts';
import type { ServiceRights } from './rights.ts';

/** What the cluster has of a module while it is on, and nothing of while it is off. */
export interface ModuleParts {
  /** In `modules.NAME.enabled`. An alert group `spotalis-NAME` and a dashboard row of this title belong to it. */
  readonly name: string;
  readonly resources: readonly ResourceDefinition[];
  /** Beside those that the services have for themselves and for what all modules look at. */
  readonly rights: { readonly controller: ServiceRights; readonly webhook: ServiceRights };
}

/** Off unless its default says otherwise; not reloadable, because rights and CRDs change with it. */
interface Switch {
  readonly format: 'flag';
  readonly default: boolean;
  readonly doc: string;
}

/** A module as data: the configuration, the charts, their docs and the doctor follow from it. */
export interface ModuleDeclaration<Name extends string, S> extends ModuleParts {
  readonly name: Name;
  readonly settings: Declared<S>;
}

export const declareModule = <
  const Name extends string,
  S extends { readonly modules: Readonly<Record<Name, { readonly enabled: Switch }>> },
>(
  module: ModuleDeclaration<Name, S>,
): ModuleDeclaration<Name, S> => module;

/** The switches by module, as the configuration has them. */
export type Switches = Readonly<Record<string, { readonly enabled: boolean }>>;

export const isOn = ({ name }: Pick<ModuleParts, 'name'>, switches: Switches): boolean =>
  switches[name]?.enabled === true;
