import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { questions } from './dashboard.ts';
import { rules } from './rules.ts';

const page = (name: string): string =>
  readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');

describe('the alerts', () => {
  it('have a runbook each, and each runbook an alert', () => {
    const sections = [...page('runbooks').matchAll(/^## (.+)$/gm)].map(([, title]) => title);
    expect(sections).toEqual(rules.map(({ alert }) => alert));
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

describe('the dashboard', () => {
  it.each([...questions])('asks in $title for series that there are', ({ expr }) => {
    const named = expr.match(/\b(spotalis|controller_runtime)_\w+/g) ?? [];
    const series = named.map((name) => name.replace(/_bucket$/, ''));
    expect(series.filter((name) => !page('metrics').includes(`\`${name}\``))).toEqual([]);
  });
});
