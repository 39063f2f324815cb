"""What Deadheat's database holds."""

from django.db import models


class User(models.Model):
    id = models.IntegerField(primary_key=True)
    email = models.TextField()

    class Meta:
        db_table = "users"
        managed = False  # Deadheat makes and fills the table

    def __str__(self) -> str:
        return self.email


class Fortune(models.Model):
    id = models.IntegerField(primary_key=True)
    message = models.TextField()

    class Meta:
        db_table = "fortune"
        managed = False

    def __str__(self) -> str:
        return self.message


class Item(models.Model):
    id = models.AutoField(primary_key=True)
    name = models.TextField()
    price = models.IntegerField()

    class Meta:
        db_table = "items"
        managed = False

    def __str__(self) -> str:
        return self.name
