"""Invitations, limits of accounts, and who made a set or registered a workspace."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('studio', '0010_pinned_runs'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='account',
            name='most_contexts',
            field=models.PositiveIntegerField(default=2000),
        ),
        migrations.AddField(
            model_name='account',
            name='most_drafts',
            field=models.PositiveIntegerField(default=1000),
        ),
        migrations.AddField(
            model_name='account',
            name='most_sets',
            field=models.PositiveIntegerField(default=1000),
        ),
        migrations.AddField(
            model_name='promptset',
            name='made_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='workspace',
            name='made_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('role', models.PositiveSmallIntegerField(choices=[(1, 'Viewer'), (2, 'Editor'), (3, 'Releaser'), (4, 'Administrator')])),
                ('note', models.CharField(blank=True, max_length=120)),
                ('made_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('made_by', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
    ]
