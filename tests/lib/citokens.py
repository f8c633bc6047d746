"""Tokens as eight CIs document them, with the issuers entry and the policy that fit each, and what must not be granted.

The claims are those of the CIs' own manuals.  Each CI has its own key here, and each token is signed by it: what is
abused is what the token says, never its signature.  «goods» are granted; each of the «abuses» differs from a granted
token in what its name says.
"""
import json
import re
import unicodedata

AUD = 'gpuhelper'


class CI:
    def __init__(self, name, url, entry, policy, claims, checked, goods=(), abuses=(), audience=AUD):
        self.name, self.url, self.entry, self.policy, self.claims = name, url, entry, policy, claims
        self.checked, self.goods, self.special, self.audience = checked, list(goods), list(abuses), audience

    def settings(self, keys):
        return '{ url = "%s"; audience = "%s"; keys = "%s"; %s }' % (self.url, self.audience, keys, self.entry)

    def good(self):
        """(name, claims) of each token that is granted."""
        yield 'as documented', self.claims
        for name, change in self.goods:
            yield name, {**self.claims, **change}

    def abuses(self):
        """(name, claims or JSON text) of each token that must not be granted."""
        for name, change in self.special:
            yield name, {k: v for k, v in {**self.claims, **change}.items() if v is not ...}
        for claim in self.checked:
            for what, value in twists(self.claims[claim]):
                yield '%s %s' % (claim, what), {k: v for k, v in {**self.claims, claim: value}.items() if v is not ...}
            rest = {k: v for k, v in self.claims.items() if k != claim}
            yield claim + ' nested', {**rest, 'claims': {claim: self.claims[claim]}}
            yield claim + ' renamed', {**rest, claim.upper() if claim.upper() != claim else claim.lower(): self.claims[claim]}
            text = json.dumps(self.claims)
            yield claim + ' twice', text[:-1] + ', %s: %s}' % (json.dumps(claim), json.dumps('evil'))
        # another value of the claim that reuse_by names is another job's, but it must be a name or a number
        turn = re.search(r'reuse_by = "(.*?)"', self.entry)
        for what, value in (('missing', ...), ('null', None), ('empty', ''), ('true', True), ('a list', ['1']), ('a group', {}), ('a fraction', 1.5)):
            if turn:
                yield '%s (reuse_by) %s' % (turn[1], what), {k: v for k, v in {**self.claims, turn[1]: value}.items() if v is not ...}


def twists(value):
    """Values that are not this one, but might be taken for it."""
    yield 'missing', ...
    yield 'null', None
    yield 'in a list', [value]
    yield 'in a group', {'value': value}
    yield 'an empty list', []
    yield 'zero', 0
    yield 'a fraction', 1.5
    if not isinstance(value, str):
        yield 'as a string', json.dumps(value)
        yield 'the other truth', (not value) if isinstance(value, bool) else value + 1
        return
    yield 'true', True
    yield 'empty', ''
    if value.isdigit():
        yield 'as a number', int(value)
    if value in ('true', 'false'):
        yield 'as a boolean', value == 'true'
    for what, text in (('in another case', value.swapcase()), ('with a space behind', value + ' '), ('with a space before', ' ' + value),
                       ('with a newline', value + '\n'), ('with a NUL', value + '\0'), ('with %2F', value.replace('/', '%2F')),
                       ('with %252F', value.replace('/', '%252F')), ('with a backslash', value.replace('/', '\\')),
                       ('with two slashes', value.replace('/', '//', 1)), ('with /. in it', value.replace('/', '/./', 1)),
                       ('beneath it', value + '/x'), ('above it', 'x/' + value), ('with ../', 'evil/../' + value),
                       ('longer', value + 'x'), ('shorter', value[:-1]), ('as a substring', 'x' + value + 'x'),
                       ('the pattern *', '*'), ('with * for its end', value[:-1] + '*'), ('with ? for its end', value[:-1] + '?'),
                       ('with a zero-width space', value[:1] + '\u200b' + value[1:]), ('with a right-to-left mark', '\u202e' + value),
                       ('in full-width letters', ''.join(chr(ord(c) + 0xfee0) if '!' <= c <= '~' else c for c in value)),
                       ('with a Cyrillic letter', value.replace('a', '\u0430', 1).replace('e', '\u0435', 1)),
                       ('in another Unicode form', unicodedata.normalize('NFD', value.replace('e', '\u00e9', 1))),
                       ('with a soft hyphen', value + '\u00ad'), ('with C1 control', value + '\u0085'), ('two, by a comma', value + ',evil')):
        if text != value:
            yield what, text


def uuid(n):
    return '{%08d-aaaa-4bbb-8ccc-123456789abc}' % n


FOLDER = 'folders = ( { path = "%s"; access = "ro"; } );\n'

CONCOURSE = CI(
    'Concourse', 'https://ci.example.com', '',
    'pipeline = "ml/train"; jobs = [ "fit", "eval-*" ]; instance_vars = { branch = "main"; };',
    {'sub': 'ml/train', 'aud': [AUD], 'team': 'ml', 'pipeline': 'train', 'job': 'fit', 'instance_vars': {'branch': 'main'}},
    ['team', 'pipeline', 'job'],
    [('another job', {'job': 'eval-7'}), ('another subject', {'sub': 'ml'})],
    [('of a one-off build', {'pipeline': '', 'job': ''}), ('of another team', {'team': 'web'}), ('of another instance', {'instance_vars': {'branch': 'pr'}}),
     ('without an instance', {'instance_vars': ...}), ('with a list of instances', {'instance_vars': [{'branch': 'main'}]}),
     ('with the pipeline in the team', {'team': 'ml/train', 'pipeline': 'x'}), ('with the team in the pipeline', {'pipeline': 'ml/train'}),
     ('whose subject alone is right', {'team': 'evil', 'sub': 'ml/train'})])

GITLAB = CI(
    'GitLab', 'https://gitlab.example.com', 'pipeline = "project_path"; token_bytes = 16384; reuse_by = "job_id";',
    'pipeline = "my-group/sub/my-project"; claims = { project_id = "20"; job_project_id = "20"; ref_protected = "true";\n'
    '  ref_path = [ "refs/heads/main", "refs/heads/release-*" ]; environment_protected = "true"; runner_id = 1; };',
    {'namespace_id': '72', 'namespace_path': 'my-group/sub', 'project_id': '20', 'project_path': 'my-group/sub/my-project', 'user_id': '1',
     'user_login': 'sample-user', 'user_email': 'sample-user@example.com', 'user_access_level': 'developer', 'job_project_id': '20',
     'job_project_path': 'my-group/sub/my-project', 'pipeline_id': '574', 'pipeline_source': 'push', 'job_id': '302', 'ref': 'main',
     'ref_type': 'branch', 'ref_path': 'refs/heads/main', 'ref_protected': 'true', 'groups_direct': ['my-group/sub'],
     'environment': 'production', 'environment_protected': 'true', 'deployment_tier': 'production', 'environment_action': 'start',
     'runner_id': 1, 'runner_environment': 'self-hosted', 'sha': '714a629c0b401fdce83e847fc9589983fc6f46bc', 'project_visibility': 'private',
     'ci_config_ref_uri': 'gitlab.example.com/my-group/sub/my-project//.gitlab-ci.yml@refs/heads/main', 'ci_config_sha': '714a629c',
     'user_identities': [{'provider': 'github', 'extern_uid': '2435223452345'}],
     'jti': '235b3a54-b797-45c7-ae9a-f72d7bc6ef5b', 'sub': 'project_path:my-group/sub/my-project:ref_type:branch:ref:main', 'aud': AUD},
    ['project_path', 'project_id', 'job_project_id', 'ref_path', 'ref_protected', 'runner_id', 'environment_protected'],
    [('of a release', {'ref': 'release-1', 'ref_path': 'refs/heads/release-1'}), ('of a user in 200 groups', {'groups_direct': [
        'my-group/department-%03d/a-rather-long-name' % i for i in range(200)]})],
    [("of a fork's merge request in the parent's pipeline", {'project_id': '99', 'project_path': 'evil/my-project', 'pipeline_source': 'merge_request_event'}),
     ("of a fork's merge request, before 17", {'job_project_id': ..., 'pipeline_source': 'merge_request_event', 'ref_protected': 'false'}),
     ('of a job in another project', {'job_project_id': '99'}), ('of an unprotected branch', {'ref_protected': 'false', 'ref_path': 'refs/heads/x'}),
     ('of an unprotected ref', {'ref_protected': 'false'}), ('of a tag named as the branch', {'ref_type': 'tag', 'ref_path': 'refs/tags/main'}),
     ('of a branch named as a ref', {'ref_path': 'refs/heads/refs/heads/main'}), ('of a branch beneath a release', {'ref_path': 'refs/heads/release-1/x'}),
     ('of a merge request', {'ref_path': 'refs/merge-requests/1/head'}), ('of a project with its name in another group', {'project_path': 'my-group/my-project'}),
     ('of a group named as the project', {'project_path': 'my-group/sub/my-project/x'}), ('of a new project with the old name', {'project_id': '21', 'job_project_id': '21'}),
     ('of an unprotected environment', {'environment_protected': 'false'}), ('without an environment', {'environment_protected': ...}),
     ('without a job', {'job_id': ...}), ('whose job is empty', {'job_id': ''}), ('of another runner', {'runner_id': 2}),
     ('that is too long', {'groups_direct': ['x' * 60] * 300})])

GITHUB = CI(
    'GitHub Actions', 'https://token.actions.githubusercontent.com', 'pipeline = "repository"; reuse_by = "check_run_id"; require = { repository_owner_id = "65"; };',
    'pipeline = "octo-org/octo-repo"; claims = { repository_id = "74"; event_name = [ "push", "workflow_dispatch" ];\n'
    '  ref = [ "refs/heads/main", "refs/heads/release-*" ]; environment = "prod";\n'
    '  job_workflow_ref = "octo-org/octo-automation/.github/workflows/oidc.yml@refs/heads/main"; };',
    {'jti': 'example-id', 'sub': 'repo:octo-org/octo-repo:environment:prod', 'environment': 'prod', 'aud': AUD, 'ref': 'refs/heads/main',
     'sha': 'example-sha', 'repository': 'octo-org/octo-repo', 'repository_owner': 'octo-org', 'actor_id': '12', 'repository_visibility': 'private',
     'repository_id': '74', 'repository_owner_id': '65', 'run_id': 'example-run-id', 'run_number': '10', 'run_attempt': '2',
     'runner_environment': 'self-hosted', 'actor': 'octocat', 'workflow': 'example-workflow', 'head_ref': '', 'base_ref': '',
     'event_name': 'workflow_dispatch', 'enterprise': 'avocado-corp', 'enterprise_id': '2', 'ref_type': 'branch', 'ref_protected': 'true',
     'check_run_id': '39581', 'job_workflow_ref': 'octo-org/octo-automation/.github/workflows/oidc.yml@refs/heads/main'},
    ['repository', 'repository_id', 'repository_owner_id', 'event_name', 'ref', 'job_workflow_ref', 'environment'],
    [('of a push', {'event_name': 'push'}), ('of a release', {'ref': 'refs/heads/release-1'})],
    [('of a pull request', {'event_name': 'pull_request', 'ref': 'refs/pull/1/merge', 'head_ref': 'evil', 'base_ref': 'main'}),
     ('of pull_request_target, with the ref of its base', {'event_name': 'pull_request_target'}),
     ("of a pull request's ref", {'ref': 'refs/pull/1/merge'}), ('of a tag named as the branch', {'ref': 'refs/tags/main', 'ref_type': 'tag'}),
     ('of a branch beneath a release', {'ref': 'refs/heads/release-1/x'}), ('of a branch named as a ref', {'ref': 'refs/heads/refs/heads/main'}),
     ('of a fork', {'repository': 'evil/octo-repo', 'repository_id': '99', 'repository_owner': 'evil', 'repository_owner_id': '666'}),
     ('of another organization with that name', {'repository_owner_id': '666', 'repository_id': '99'}),
     ('of a new repository with the old name', {'repository_id': '75'}), ('of workflow_run', {'event_name': 'workflow_run'}),
     ('of issue_comment', {'event_name': 'issue_comment'}), ('of a schedule', {'event_name': 'schedule'}),
     ("of another branch of the workflow's", {'job_workflow_ref': 'octo-org/octo-automation/.github/workflows/oidc.yml@refs/heads/evil'}),
     ("of another owner's workflow", {'job_workflow_ref': 'evil/octo-automation/.github/workflows/oidc.yml@refs/heads/main'}),
     ('of another workflow', {'job_workflow_ref': 'octo-org/octo-automation/.github/workflows/x.yml@refs/heads/main'}),
     ('of another environment', {'environment': 'staging'}), ('without an environment', {'environment': ...}),
     ('whose subject alone is right', {'repository': 'evil/x', 'sub': 'repo:octo-org/octo-repo:environment:prod'}),
     ('without a check run', {'check_run_id': ...})])

BUILDKITE = CI(
    'Buildkite', 'https://agent.buildkite.com', 'team = "organization_slug"; pipeline = "pipeline_slug"; job = "step_key"; reuse_by = "job_id";\n'
    '  require = { organization_id = "0184990a-477b-4fa8-9968-000000000001"; };',
    'pipeline = "acme-inc/super-duper-app"; jobs = [ "build" ]; claims = ( { claim = "build_branch"; value = "main"; },\n'
    '  { claim = "build_tag"; absent = true; }, { claim = "build_source"; value = [ "webhook", "ui" ]; },\n'
    '  { claim = "pipeline_id"; value = "0184990a-477b-4fa8-9968-000000000002"; } );',
    {'sub': 'organization:acme-inc:pipeline:super-duper-app:ref:refs/heads/main:commit:9f3182061f1e2cca4702c368cbc039b7dc9d4485:step:build',
     'aud': AUD, 'organization_slug': 'acme-inc', 'organization_id': '0184990a-477b-4fa8-9968-000000000001', 'pipeline_slug': 'super-duper-app',
     'pipeline_id': '0184990a-477b-4fa8-9968-000000000002', 'build_number': 1, 'build_branch': 'main', 'build_tag': None,
     'build_commit': '9f3182061f1e2cca4702c368cbc039b7dc9d4485', 'step_key': 'build', 'job_id': '0184990a-477b-4fa8-9968-496074483cee',
     'agent_id': '0184990a-4782-42b5-afc1-16715b10b8ff', 'build_source': 'ui', 'runner_environment': 'self-hosted', 'jti': '0194b014'},
    ['organization_slug', 'organization_id', 'pipeline_slug', 'build_branch', 'step_key', 'pipeline_id'],
    [('from a webhook', {'build_source': 'webhook'})],
    [('of another organization', {'organization_slug': 'evil', 'organization_id': '0184990a-477b-4fa8-9968-000000000666'}),
     ('of another organization with that slug', {'organization_id': '0184990a-477b-4fa8-9968-000000000666'}),
     ('of a tag named as the branch', {'build_tag': 'main'}), ('of an empty tag', {'build_tag': ''}), ('of a tag false', {'build_tag': False}),
     ('of another branch', {'build_branch': 'evil'}), ("of a fork's pull request", {'build_branch': 'evil:main'}),
     ('by the API', {'build_source': 'api'}), ('by a trigger job', {'build_source': 'trigger_job'}),
     ('of another step', {'step_key': 'lint'}), ('without a step', {'step_key': None}), ('of another pipeline', {'pipeline_slug': 'pull-requests'}),
     ('of a new pipeline with the old slug', {'pipeline_id': '0184990a-477b-4fa8-9968-000000000003'}),
     ('with both names in the organization', {'organization_slug': 'acme-inc/super-duper-app', 'pipeline_slug': 'x'}),
     ('without a job', {'job_id': None})])

ORG = '11111111-2222-4333-8444-555555555555'
CIRCLECI = CI(
    'CircleCI', 'https://oidc.circleci.com/org/' + ORG, 'pipeline = "oidc.circleci.com/vcs-origin"; token_variable = "CIRCLE_OIDC_TOKEN_V2";\n'
    '  require = ( { claim = "oidc.circleci.com/ssh-rerun"; value = false; } );',
    'pipeline = "github.com/organization-123/repo-1"; claims = (\n'
    '  { claim = "oidc.circleci.com/project-id"; value = "66666666-7777-4888-8999-aaaaaaaaaaaa"; },\n'
    '  { claim = "oidc.circleci.com/vcs-ref"; value = [ "refs/heads/main", "refs/heads/release-*" ]; } );',
    {'sub': 'org/%s/project/66666666-7777-4888-8999-aaaaaaaaaaaa/user/u/vcs-origin/github.com/organization-123/repo-1/vcs-ref/refs/heads/main' % ORG,
     'aud': ORG, 'oidc.circleci.com/project-id': '66666666-7777-4888-8999-aaaaaaaaaaaa', 'oidc.circleci.com/ssh-rerun': False,
     'oidc.circleci.com/vcs-origin': 'github.com/organization-123/repo-1', 'oidc.circleci.com/vcs-ref': 'refs/heads/main',
     'oidc.circleci.com/context-ids': ['a74579f1-2e7d-451e-b009-5c082ad2729e']},
    ['oidc.circleci.com/vcs-origin', 'oidc.circleci.com/project-id', 'oidc.circleci.com/vcs-ref', 'oidc.circleci.com/ssh-rerun'],
    [('of a release', {'oidc.circleci.com/vcs-ref': 'refs/heads/release-2'})],
    [("of a fork's pull request", {'oidc.circleci.com/vcs-origin': 'github.com/evil/repo-1'}),
     ("of a pull request's ref", {'oidc.circleci.com/vcs-ref': 'refs/pull/1/head'}), ('of a tag', {'oidc.circleci.com/vcs-ref': 'refs/tags/main'}),
     ('by a custom webhook', {'oidc.circleci.com/vcs-origin': ..., 'oidc.circleci.com/vcs-ref': ...}),
     ('of a rerun with SSH', {'oidc.circleci.com/ssh-rerun': True}), ('of another project', {'oidc.circleci.com/project-id': 'evil'}),
     ('of another host', {'oidc.circleci.com/vcs-origin': 'gitlab.com/organization-123/repo-1'}),
     ('of another organization', {'aud': '99999999-2222-4333-8444-555555555555', 'iss': 'https://oidc.circleci.com/org/99999999-2222-4333-8444-555555555555'}),
     ('for another audience', {'aud': '99999999-2222-4333-8444-555555555555'}),
     ('with claims of other names', {'oidc.circleci.com/vcs-ref': ..., 'vcs-ref': 'refs/heads/main'})], audience=ORG)

WORKSPACE = 'ari:cloud:bitbucket::workspace/' + uuid(1)[1:-1]
BITBUCKET = CI(
    'Bitbucket', 'https://api.bitbucket.org/2.0/workspaces/acme/pipelines-config/identity/oidc',
    'team = "workspaceUuid"; pipeline = "repositoryUuid"; token_variable = "BITBUCKET_STEP_OIDC_TOKEN"; reuse_by = "stepUuid";',
    'pipeline = "%s/%s"; claims = { branchName = "main"; deploymentEnvironmentUuid = "%s"; };' % (uuid(1), uuid(2), uuid(3)),
    {'sub': '%s:%s:%s' % (uuid(2), uuid(3), uuid(4)), 'aud': WORKSPACE, 'accountUuid': uuid(5), 'workspaceUuid': uuid(1), 'repositoryUuid': uuid(2),
     'deploymentEnvironmentUuid': uuid(3), 'stepUuid': uuid(4), 'pipelineUuid': uuid(6), 'branchName': 'main'},
    ['workspaceUuid', 'repositoryUuid', 'branchName', 'deploymentEnvironmentUuid'],
    [('with several audiences', {'aud': ['https://other.example', WORKSPACE]}), ('of another step', {'stepUuid': uuid(7)})],
    [('of another workspace', {'workspaceUuid': uuid(9)}), ('of another repository', {'repositoryUuid': uuid(9)}),
     ('of a fork', {'workspaceUuid': uuid(9), 'repositoryUuid': uuid(8)}), ('of another branch', {'branchName': 'evil'}),
     ('of a tag', {'branchName': ...}), ('of another environment', {'deploymentEnvironmentUuid': uuid(9)}),
     ('without an environment', {'deploymentEnvironmentUuid': ...}), ('without braces', {'repositoryUuid': uuid(2)[1:-1]}),
     ('in upper case', {'repositoryUuid': uuid(2).upper()}), ('for another audience', {'aud': 'https://other.example'}),
     ('without a step', {'stepUuid': ...}), ('with its names exchanged', {'workspaceUuid': uuid(2), 'repositoryUuid': uuid(1)})], audience=WORKSPACE)

FORGEJO = CI(
    'Forgejo', 'https://forgejo.example.com/api/actions', 'pipeline = "repository"; reuse_by = "run_id";',
    'pipeline = "user1/testing"; claims = { event_name = "push"; ref = [ "refs/heads/master", "refs/heads/v*" ]; ref_protected = "true";\n'
    '  repository_id = "7"; repository_owner_id = "3"; };',
    {'actor': 'user1', 'actor_id': '3', 'aud': AUD, 'event_name': 'push', 'ref': 'refs/heads/master', 'ref_protected': 'true', 'ref_type': 'branch',
     'repository': 'user1/testing', 'repository_id': '7', 'repository_owner': 'user1', 'repository_owner_id': '3', 'run_attempt': '1', 'run_id': '43',
     'run_number': '43', 'sha': '76cb2978acb72029ac23277a6192eea1707c6a2c', 'sub': 'repo:user1/testing:ref:refs/heads/master', 'workflow': 'test.yml',
     'workflow_ref': 'user1/testing/.forgejo/workflows/test.yml@refs/heads/master'},
    ['repository', 'event_name', 'ref', 'ref_protected', 'repository_id', 'repository_owner_id'],
    [('of a version', {'ref': 'refs/heads/v1'})],
    [('of a pull request', {'event_name': 'pull_request', 'ref': 'refs/pull/1/head', 'base_ref': 'master'}),
     ('of pull_request_target', {'event_name': 'pull_request_target', 'base_ref': 'master'}), ('of a fork', {'repository': 'evil/testing', 'repository_id': '9'}),
     ('of a tag named as the branch', {'ref': 'refs/tags/master', 'ref_type': 'tag'}), ('of an unprotected ref', {'ref_protected': 'false'}),
     ('of a new user with the old name', {'repository_owner_id': '4', 'repository_id': '9'}), ('of a branch beneath a version', {'ref': 'refs/heads/v1/x'}),
     ('by hand', {'event_name': 'workflow_dispatch'}), ('without a run', {'run_id': ...}),
     ('of an older Forgejo, without ids', {'repository_id': ..., 'repository_owner_id': ...})])

JENKINS = CI(
    'Jenkins', 'https://jenkins.example.com/oidc', 'pipeline = "job_name"; require = { controller = "main"; };',
    'pipeline = "ml/train/main"; claims = { release = true; queue = 7; branch = "main"; };',
    {'sub': 'https://jenkins.example.com/job/ml/job/train/job/main/', 'aud': AUD, 'build_number': '12', 'job_name': 'ml/train/main', 'branch': 'main',
     'release': True, 'queue': 7, 'controller': 'main'},
    ['job_name', 'release', 'queue', 'branch', 'controller'],
    [('of another build', {'build_number': '13'})],
    [('of another branch', {'job_name': 'ml/train/evil', 'branch': 'evil'}), ('of another folder', {'job_name': 'evil/train/main'}),
     ('of a job without a folder', {'job_name': 'train'}), ('of a branch with %2F', {'job_name': 'ml/train%2Fmain'}),
     ("of a pull request", {'job_name': 'ml/train/PR-1', 'branch': 'PR-1'}), ('of another controller', {'controller': 'test'}),
     ('of no release', {'release': False}), ('with the default claims alone', {'job_name': ..., 'branch': ..., 'release': ..., 'queue': ..., 'controller': ...}),
     ('whose subject alone is right', {'job_name': 'evil/x'})])

ALL = [CONCOURSE, GITLAB, GITHUB, BUILDKITE, CIRCLECI, BITBUCKET, FORGEJO, JENKINS]
