import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { modules } from '@spotalis/core';
import { questions, rows } from './dashboard.ts';
import { groupNames, rules } from './rules.ts';

const page = (name: string): string =>
  readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');

describe('the alerts', () => {
  it('have a runbook each, and each runbook an alert', () => {
    const sections = [...page('runbooks').matchAll(/^## (.+)$/gm)].map(([, title = '']) => title);
    expect(sections.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
  });

  it.each([...rules])('say of $alert how bad it is, what is the matter and what it means', (rule) => {
    expect(rule.labels['severity']).toMatch(/^(critical|warning)$/);
    expect(rule.annotations.summary).not.toMatch(/\.$/);
    expect(rule.annotations.description).toMatch(/\.$/);
  });

  it.each([...rules])('look in $alert at series that there are', ({ expr }) => {
    const series = new Set(expr.match(/\bspotalis_\w+/g));
    const known = page('metrics');
    expect([...series].filter((name) => !known.includes(`\`${name}\``))).toEqual([]);
    expect(series.size).toBeGreaterThan(0);
  });
});

describe('the parts of modules', () => {
  const names = modules.map(({ name }) => name);

  // A module without series of its own has neither yet.
  it('are groups of alerts, but for one that is of the services', () => {
    const ofModules = groupNames.filter((name) => name !== 'spotalis');
    expect(names.map((name) => `spotalis-${name}`)).toEqual(expect.arrayContaining(ofModules));
  });

  it('are rows of the dashboard, but for one that is of the services', () => {
    const ofModules = rows.filter((title) => title !== 'Services');
    expect(names).toEqual(expect.arrayContaining(ofModules.map((title) => title.toLowerCase())));
  });
});

describe('the dashboard', () => {
  it.each([...questions])('asks in $title for series that there are', ({ expr }) => {
    const named = expr.match(/\b(spotalis|controller_runtime)_\w+/g) ?? [];
    const series = named.map((name) => name.replace(/_bucket$/, ''));
    expect(series.filter((name) => !page('metrics').includes(`\`${name}\``))).toEqual([]);
  });
});
